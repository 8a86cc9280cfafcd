//! `demo`: the main job in a throw-away state directory, with real processes.
