mod budgets;
mod growth;
mod requests;
mod texts;
