# Common tasks. `just` alone lists them; each line works without just(1), too.

# List the tasks.
default:
    @just --list

# Format, lint and run every test: the command of the README.
test:
    cargo test --locked

# Everything that must hold before a change lands.
ci:
    bash .ci/run

# Lints only.
lint:
    cargo fmt --check
    cargo clippy --all-targets --locked -- -D warnings

# Licences, sources and duplicate versions of dependencies (needs cargo-deny).
deny:
    cargo deny --offline check licenses bans sources

# Long proofs: planted faults, release build, fuzz targets, storms, the whole sweep.
soak minutes="30":
    tests/soak {{minutes}}

# Rewrite man pages and completions from the code.
generated:
    UPDATE_GENERATED=1 cargo test --locked --test it generated

# The demo, in a throw-away directory.
demo:
    cargo run --release --locked -- demo
