use super::*;

/// Numbers of every size: the neighbours of all powers of two and of ten.
fn numbers() -> impl Iterator<Item = u64> {
    let twos = (0..64).map(|power| 1u64 << power);
    let tens = (0..20).map(|power| 10u64.pow(power));
    let fives = (0..19).map(|power| 5 * 10u64.pow(power));
    let near = |number: u64| number.saturating_sub(60)..number.saturating_add(60);
    twos.chain(tens).chain(fives).flat_map(near).chain([u64::MAX])
}

#[test]
fn numbers_are_written_as_std_writes_them() {
    for number in numbers() {
        let mut line = String::new();
        write_number(number, &mut line);
        assert_eq!(line, number.to_string());
    }
}

#[test]
fn durations_are_written_as_std_writes_them() {
    let multiples = (0..4000).flat_map(|count| [count * 50, count * 50_000, count * 50_000_000]);
    for nanos in numbers().chain(multiples).filter(|nanos| *nanos < u64::MAX / 10) {
        let time = Duration::from_nanos(nanos);
        let mut line = String::new();
        write_duration(time, Precision::Tenths, &mut line);
        assert_eq!(line, format!("{time:.1?}"), "{nanos}");
        line.clear();
        write_duration(time, Precision::Whole, &mut line);
        assert_eq!(line, format!("{time:.0?}"), "{nanos}");
    }
}

#[test]
fn times_are_written_as_their_numbers() {
    for seconds in numbers().chain([951_827_696, 1_794_747_928, 253_402_300_799]) {
        let mut line = String::new();
        write_time(seconds, &mut line);
        let at = i64::try_from(seconds).ok();
        let at = at.and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
        let want = at.map(|at| {
            let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
            let (hour, minute, second) = at.time().as_hms();
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
        });
        assert_eq!(line, want.unwrap_or_default());
    }
}
