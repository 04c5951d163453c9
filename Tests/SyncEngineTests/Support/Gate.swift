/// Holds requests until it is open.
final class Gate: Sendable {
    private let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    private let (openings, opening) = AsyncStream.makeStream(of: Void.self)

    func pass() async {
        arrived.yield()
        for await _ in openings {}
    }

    /// Returns when a request is held.
    func arrival() async {
        for await _ in arrivals { return }
    }

    func open() { opening.finish() }
}
