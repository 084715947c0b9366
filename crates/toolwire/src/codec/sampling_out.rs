//! Sampling parameters: from the model to any target.

use super::context::EncodeContext;
use crate::ledger::Code;
use crate::model::Sampling;
use crate::wire::{Object, Raw};

/// What a protocol takes besides `temperature` and `top_p`.
pub(crate) struct SamplingRules {
    pub(crate) top_k: bool,
    /// Penalties, a seed and biases of tokens.
    pub(crate) penalties: bool,
    pub(crate) max_temperature: Option<u32>,
}

/// Writes the sampling parameters that the upstream takes.
pub(crate) fn write_sampling(
    sampling: &Sampling<'_>,
    rules: &SamplingRules,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Sampling {
        temperature,
        top_p,
        top_k,
        frequency_penalty,
        presence_penalty,
        seed,
        logit_bias,
    } = sampling;
    let SamplingRules { top_k: has_top_k, penalties, max_temperature } = *rules;
    let [takes_temperature, takes_top_p, takes_top_k] = cx.profile.takes_sampling(cx.thinks);
    let has_temperature = takes_temperature && temperature.is_some();
    let takes_top_p = takes_top_p && (cx.profile.temperature_with_top_p || !has_temperature);
    let fields = [
        ("temperature", temperature, takes_temperature),
        ("top_p", top_p, takes_top_p),
        ("top_k", top_k, has_top_k && takes_top_k),
        ("frequency_penalty", frequency_penalty, penalties),
        ("presence_penalty", presence_penalty, penalties),
        ("seed", seed, penalties),
        ("logit_bias", logit_bias, penalties),
    ];
    for (key, value, is_taken) in fields {
        let max = max_temperature.filter(|_| key == "temperature");
        match (value, max) {
            (Some(value), _) if !is_taken => _ = cx.ledger.dropped(value.pos(), Code::Sampling),
            (Some(value), Some(max)) if is_above(value, max) => {
                cx.ledger.degraded(value.pos(), Code::TemperatureClamped);
                object.put(key, &u64::from(max));
            }
            (Some(value), _) => object.put(key, value),
            (None, _) => {}
        }
    }
}

fn is_above(number: &Raw<'_>, max: u32) -> bool {
    number.text().parse::<f64>().is_ok_and(|number| number > f64::from(max))
}
