//! Table only: what happens to the fields of a request.

use toolwire::Code::*;
use toolwire::Protocol::{Chat, Messages, Responses};
use toolwire::disposition::Disposition::{Carried, Lost};
use toolwire::disposition::Row;

/// Rows with a disposition for Chat, Responses and Messages each.
macro_rules! rows {
    ($( $group:literal { $( $field:literal => $chat:expr, $responses:expr, $messages:expr; )* } )*) => {
        &[$( $( Row {
            group: $group,
            field: $field,
            toward: &[(Chat, $chat), (Responses, $responses), (Messages, $messages)],
            note: None,
        }, )* )*]
    };
}

pub(super) static TABLE: &[Row] = rows! {
    "Conversation" {
        "charter" => Carried, Carried, Carried;
        "dialogue[].says" => Carried, Carried, Carried;
        "dialogue[].ref" => Carried, Carried, Carried;
        "dialogue[].gave" => Carried, Carried, Carried;
        "dialogue[].failed" => Lost(IsError), Lost(IsError), Carried;
    }
    "Tools" {
        "instruments[].tool" => Carried, Carried, Carried;
        "instruments[].about" => Carried, Carried, Carried;
        "instruments[].takes" => Carried, Carried, Carried;
        "must" => Carried, Carried, Carried;
        "only" => Carried, Carried, Lost(AllowedToolsFiltered);
        "alone" => Carried, Carried, Carried;
    }
    "Output" {
        "limits.tokens" => Carried, Carried, Carried;
        "limits.stops" => Carried, Lost(Stop), Carried;
        "shape.name" => Carried, Carried, Lost(FormatName);
        "shape.schema" => Carried, Carried, Carried;
    }
    "Settings" {
        "heat" => Carried, Carried, Lost(Sampling);
        "nucleus" => Carried, Carried, Lost(Sampling);
        "ponder" => Carried, Carried, Carried;
        "asker" => Carried, Carried, Carried;
    }
};
