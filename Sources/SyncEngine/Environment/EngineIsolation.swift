/// Lends its executor to every part of one engine.
///
/// Each part is an actor with its own state, and all of them return this executor as their `unownedExecutor`. An
/// `await` of one part in another therefore switches nothing and lets nothing else run: steps that belong together stay
/// one step, as if they were in a single actor. Only waits for the upstream, the store or a clock let other work in.
actor EngineIsolation {}
