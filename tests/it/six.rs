//! The six tests that row S3.39 names, under those names.
