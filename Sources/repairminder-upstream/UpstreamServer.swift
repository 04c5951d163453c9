internal import Dispatch
internal import Foundation
internal import ReferenceUpstream
internal import SocketServer

/// Serves an upstream until SIGINT or SIGTERM.
struct UpstreamServer {
    let upstream: ReferenceUpstream
    let address: ListenAddress

    func run() async throws(Failure) {
        var limits = ServerLimits()
        limits.shutdown = .seconds(2)
        let server = SocketServer(
            listeners: [.tcp(host: address.host, port: address.port)], limits: limits
        ) { [upstream] request in await upstream.respond(to: request) }
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let sources = Self.watch([SIGINT, SIGTERM]) { continuation.yield() }
        defer { sources.forEach { $0.cancel() } }
        do {
            for address in try server.bind() { FileHandle.standardOutput.write(Data("listening on \(address)\n".utf8)) }
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run() }
                group.addTask { for await _ in signals { return } }
                // Whichever ends first ends the other: a signal stops the server, a broken server stops the wait.
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        } catch {
            throw Failure(code: EX_UNAVAILABLE, message: "\(error)")
        }
    }

    /// Calls `notice` for each of these signals, which end the process no more.
    private static func watch(
        _ signals: [Int32], _ notice: @escaping @Sendable () -> Void
    ) -> [any DispatchSourceSignal] {
        signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: notice)
            source.resume()
            return source
        }
    }
}
