//! A key that comes twice is found wherever it is, however many there are and however it is
//! spelled.

use crate::wire::{Keys, ReadError, Reader};

/// Reads an object with these keys, as they are spelled.
fn read(keys: &[String]) -> Result<(), ReadError> {
    let members: Vec<_> = keys.iter().map(|key| format!("\"{key}\":1")).collect();
    let text = format!("{{{}}}", members.join(","));
    let mut reader = Reader::new(&text);
    let mut members = reader.object()?;
    let mut seen = Keys::default();
    while let Some(key) = members.next(&mut reader)? {
        seen.add(&key, &mut reader)?;
        reader.skip()?;
    }
    Ok(())
}

#[test]
fn a_key_that_comes_twice_is_found() {
    for count in [1, 2, 15, 16, 17, 40, 63, 64, 65, 66, 130] {
        let keys: Vec<_> = (0..count).map(|number| format!("k{number}")).collect();
        assert_eq!(read(&keys), Ok(()), "{count} keys");
        for twice in 0..count {
            for spelled in [format!("k{twice}"), format!("\\u006b{twice}")] {
                let mut keys = keys.clone();
                keys.push(spelled);
                assert!(read(&keys).is_err(), "{:?} of {count} keys", keys.last());
                keys.rotate_right(1);
                assert!(read(&keys).is_err(), "{:?} before {count} keys", keys.first());
            }
        }
    }
}
