internal import Foundation
internal import ReferenceUpstream
internal import SocketServer
internal import UnixSignals

/// Serves an upstream until SIGINT or SIGTERM.
struct UpstreamServer {
    let upstream: ReferenceUpstream
    let address: ListenAddress

    func run() async throws(Failure) {
        let server = upstream.server(at: .tcp(host: address.host, port: address.port))
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        do {
            for address in try server.bind() { FileHandle.standardOutput.write(Data("listening on \(address)\n".utf8)) }
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run() }
                group.addTask { for await _ in signals { return } }
                // The first to end stops the other: a signal stops the server, a failed server stops the wait.
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        } catch {
            throw Failure(code: EX_UNAVAILABLE, message: "\(error)")
        }
    }
}
