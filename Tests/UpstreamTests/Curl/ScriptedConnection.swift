import Foundation

/// Runs one script of `ScriptedServer` on one accepted socket, on its own thread.
struct ScriptedConnection {
    private let socket: Int32
    private let received: AsyncStream<String>.Continuation

    init(_ socket: Int32, _ received: AsyncStream<String>.Continuation) {
        self.socket = socket
        self.received = received
    }

    func play(_ script: [ScriptedServer.Step]) {
        defer { close(socket) }
        for step in script {
            switch step {
            case .receive: receiveRequest().map { _ = received.yield($0) }
            case .receivePiece: receivePiece().map { _ = received.yield($0) }
            case .send(let bytes): _ = send(bytes)
            case .trickle(let byte): while send([byte]), !hasClientLeft(within: 20) {}
            case .flood(let bytes): while send(bytes) {}
            case .awaitClientLeaving: while !hasClientLeft(within: -1) {}
            case .awaitClientReset(let gate):
                while !hasClientLeft(within: -1) {}
                if errno == ECONNRESET { gate.open() }
            case .pass(let gate): gate.pass()
            case .open(let gate): gate.open()
            case .finish: shutdown(socket, Int32(SHUT_WR))
            case .reset: Sockets.resetOnClose(socket)
            }
        }
    }

    private func receiveRequest() -> String? {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isComplete(request) {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            request += buffer[..<count]
        }
        return String(decoding: request, as: UTF8.self)
    }

    private func receivePiece() -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private func isComplete(_ request: [UInt8]) -> Bool {
        let text = String(decoding: request, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].components(separatedBy: "\r\n")
            .first { $0.lowercased().hasPrefix("content-length:") }?.dropFirst(15)
        return text[end.upperBound...].utf8.count >= Int(length?.trimmingCharacters(in: .whitespaces) ?? "0") ?? 0
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest.removeFirst(count)
        }
        return true
    }

    /// Waits up to this many milliseconds, -1 for no limit; discards what the client sends meanwhile.
    private func hasClientLeft(within limit: Int32) -> Bool {
        var wait = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, limit) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        return recv(socket, &buffer, buffer.count, 0) <= 0
    }
}
