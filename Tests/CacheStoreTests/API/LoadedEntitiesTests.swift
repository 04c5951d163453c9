import Testing

@testable import CacheStore

@Suite("What is known to be loaded")
struct LoadedEntitiesTests {
    private let entities = LoadedEntities()

    /// Whether the entity is loaded, and whether that was asked.
    private func look(_ entity: String, at commits: UInt64, isLoaded: Bool) -> (isLoaded: Bool, wasAsked: Bool) {
        var wasAsked = false
        let found = entities.has(entity, at: commits) {
            wasAsked = true
            return isLoaded
        }
        return (found, wasAsked)
    }

    @Test("an entity that is loaded is asked about once for each commit")
    func once() {
        #expect(look("orders", at: 1, isLoaded: true) == (true, true))
        #expect(look("orders", at: 1, isLoaded: false) == (true, false))
        #expect(look("orders", at: 2, isLoaded: false) == (false, true))
    }

    @Test("one that is not loaded yet is asked about each time")
    func notYet() {
        #expect(look("orders", at: 1, isLoaded: false) == (false, true))
        #expect(look("orders", at: 1, isLoaded: true) == (true, true))
    }

    @Test("each entity is asked about by itself")
    func each() {
        #expect(look("orders", at: 1, isLoaded: true) == (true, true))
        #expect(look("clients", at: 1, isLoaded: false) == (false, true))
    }
}
