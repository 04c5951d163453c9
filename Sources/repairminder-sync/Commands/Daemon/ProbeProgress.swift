import Synchronization

/// What a probe asks for at the moment.
final class ProbeProgress: Sendable {
    private let request = Mutex<(number: Int, path: String)?>(nil)
    private let most: Int

    /// `most`: the most requests that the probe makes.
    init(most: Int) { self.most = most }

    func note(_ number: Int, _ path: String) { request.withLock { $0 = (number, path) } }

    /// Nil before the first request.
    var sample: ProgressLine.Sample? {
        request.withLock { $0 }.map { request in
            let text = "request \(request.number) of at most \(most): GET \(request.path)"
            return ProgressLine.Sample(text: ProgressText(label: text))
        }
    }
}
