//! Documents that are nested deeper than anybody needs.
