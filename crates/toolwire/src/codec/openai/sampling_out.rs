//! Sampling parameters: model to wire.

use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::Sampling;
use crate::wire::Object;

/// Whether a protocol takes penalties, a seed and biases of tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Penalties {
    Taken,
    Lost,
}

/// Writes the sampling parameters that the upstream takes.
pub(crate) fn write_sampling(
    sampling: &Sampling<'_>,
    penalties: Penalties,
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
    let [takes_temperature, takes_top_p, _] = cx.profile.takes_sampling(cx.thinks);
    let both = cx.profile.temperature_with_top_p || temperature.is_none();
    let takes_penalties = penalties == Penalties::Taken;
    let fields = [
        ("temperature", temperature, takes_temperature),
        ("top_p", top_p, takes_top_p && both),
        ("top_k", top_k, false),
        ("frequency_penalty", frequency_penalty, takes_penalties),
        ("presence_penalty", presence_penalty, takes_penalties),
        ("seed", seed, takes_penalties),
        ("logit_bias", logit_bias, takes_penalties),
    ];
    for (key, value, is_taken) in fields {
        match value {
            Some(value) if is_taken => object.put(key, value),
            Some(value) => {
                cx.ledger.dropped(value.pos(), Code::Sampling);
            }
            None => {}
        }
    }
}
