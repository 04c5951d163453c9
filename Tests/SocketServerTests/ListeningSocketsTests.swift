import Foundation
import Glibc
import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct ListeningSocketsTests {
        private let path = FileManager.default.temporaryDirectory.path + "/listen-\(UUID().uuidString.prefix(8)).sock"

        private func serve(_ listeners: [Listener], _ word: String, _ body: ([BoundAddress]) throws -> Void)
            async throws
        {
            let server = SocketServer(listeners: listeners, limits: .quick) { _ in
                Response(status: 200, body: Array(word.utf8))
            }
            let addresses = try server.bind()
            let running = Task { try await server.run() }
            defer { running.cancel() }
            try body(addresses)
            running.cancel()
            try await running.value
        }

        @Test("a caller between two servers is answered by the second")
        func handover() async throws {
            var sockets = ListeningSockets()
            try sockets.change(to: [.tcp(host: "127.0.0.1", port: 0), .unix(path: path, mode: 0o600, group: nil)])
            var addresses: [BoundAddress] = []
            try await serve(try sockets.forServer(), "first") { addresses = $0 }
            let between = try addresses.map { address in
                let client = try TestClient(address)
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
            try await serve(try sockets.forServer(), "second") { same throws in
                #expect(same == addresses)
                for client in between { #expect(try client.receiveAnswer().body == "second") }
            }
        }

        @Test("kept listeners stay open, new ones are opened, removed ones are closed and their files deleted")
        func changes() async throws {
            var sockets = ListeningSockets()
            let unix = Listener.unix(path: path, mode: 0o600, group: nil)
            try sockets.change(to: [.tcp(host: "127.0.0.1", port: 0), unix])
            let before = try await addresses(try sockets.forServer())
            try sockets.change(to: [.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0)])
            let after = try await addresses(try sockets.forServer())
            #expect(after.count == 2)
            #expect(after[0] == before[0])
            #expect(!FileManager.default.fileExists(atPath: path))
            _ = consume sockets
            #expect(throws: TestClient.Failure.self) { try TestClient(before[0]) }
        }

        @Test("new permissions are not given to what a link in the socket's place leads to")
        func linkInPlace() throws {
            let other = path + ".other"
            try Data().write(to: URL(filePath: other))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other)
            defer { for file in [path, other] { unlink(file) } }
            var sockets = ListeningSockets()
            try sockets.change(to: [.unix(path: path, mode: 0o600, group: nil)])
            unlink(path)
            #expect(symlink(other, path) == 0)
            let isChanged = (try? sockets.change(to: [.unix(path: path, mode: 0o660, group: nil)])) != nil
            #expect(!isChanged)
            sockets.close()
            let mode = try FileManager.default.attributesOfItem(atPath: other)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }

        @Test("where the system chooses the port, 127.0.0.1 and [::1] get the same, whichever is open before")
        func samePort() async throws {
            let both = [Listener.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0)]
            for before in [[], [both[0]], [both[1]], both] {
                var sockets = ListeningSockets()
                try sockets.change(to: before)
                try sockets.change(to: both)
                let ports: [UInt16] = sockets.addresses.map { if case .tcp(let end) = $0 { end.port } else { 0 } }
                #expect(ports.count == 2 && ports[0] == ports[1], "\(before.count) open before")
                let served = try await addresses(try sockets.forServer())
                #expect(served == sockets.addresses)
            }
        }

        @Test("a failed change leaves everything as it was")
        func refused() async throws {
            var sockets = ListeningSockets()
            let tcp = Listener.tcp(host: "127.0.0.1", port: 0)
            try sockets.change(to: [tcp])
            let before = try await addresses(try sockets.forServer())
            let new = Listener.unix(path: path, mode: 0o600, group: nil)
            #expect(throws: ServerError.self) {
                try sockets.change(to: [new, .unix(path: "/none/a", mode: 0o600, group: nil)])
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await addresses(try sockets.forServer()) == before)
        }

        @Test("a socket file keeps listening when its permissions change")
        func permissions() throws {
            var sockets = ListeningSockets()
            try sockets.change(to: [.unix(path: path, mode: 0o600, group: nil)])
            try sockets.change(to: [.unix(path: path, mode: 0o660, group: nil)])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o660)
        }

        /// A listening socket as the service manager would open it.
        private func opened(_ listener: Listener) throws -> (descriptor: Int32, address: BoundAddress) {
            var sockets = ListeningSockets()
            try sockets.change(to: [listener])
            let server = SocketServer(listeners: try sockets.forServer()) { _ in Response(status: 200) }
            let address = try #require(try server.bind().first)
            guard case .descriptor(let descriptor) = try sockets.forServer().first else { return (-1, address) }
            return (descriptor, address)
        }

        @Test("an inherited socket serves the listener of its address, and callers wait while nothing serves it")
        func inherited() async throws {
            let (descriptor, address) = try opened(.tcp(host: "127.0.0.1", port: 0))
            guard case .tcp(let end) = address else { return }
            var sockets = try ListeningSockets(inherited: [descriptor])
            #expect(sockets.unused == [address])
            try sockets.change(to: [.tcp(host: "127.0.0.1", port: end.port)])
            #expect(sockets.unused == [])
            try await serve(try sockets.forServer(), "first") { #expect($0 == [address]) }
            sockets.close()
            let waiting = try TestClient(address)
            waiting.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try sockets.change(to: [.tcp(host: "127.0.0.1", port: end.port)])
            try await serve(try sockets.forServer(), "second") { _ throws in
                #expect(try waiting.receiveAnswer().body == "second")
            }
            close(descriptor)
        }

        @Test("a port of the service manager cannot be listened at with another address, and the error says why")
        func heldPort() throws {
            let (descriptor, address) = try opened(.tcp(host: "127.0.0.1", port: 0))
            defer { close(descriptor) }
            guard case .tcp(let end) = address else { return }
            var sockets = try ListeningSockets(inherited: [descriptor])
            do throws(ServerError) {
                try sockets.change(to: [.tcp(host: "0.0.0.0", port: end.port)])
                Issue.record("the port was taken twice")
            } catch {
                #expect(error.description.contains("socket unit holds \(address)"))
            }
        }

        @Test("an inherited socket at [::1] is served beside 127.0.0.1, where localhost leads as well")
        func otherLoopback() throws {
            let (first, address) = try opened(.tcp(host: "127.0.0.1", port: 0))
            defer { close(first) }
            guard case .tcp(let end) = address else { return }
            let (second, other) = try opened(.tcp(host: "::1", port: end.port))
            defer { close(second) }
            var sockets = try ListeningSockets(inherited: [first, second])
            try sockets.change(to: [.tcp(host: "127.0.0.1", port: end.port)])
            #expect(sockets.unused == [])
            try sockets.change(to: [.tcp(host: "::1", port: end.port)])
            #expect(sockets.unused == [address])
            try sockets.change(to: [])
            #expect(sockets.unused == [address, other])
        }

        @Test("an inherited socket that another server of the process serves is not one that no listener uses")
        func otherServer() async throws {
            let (first, address) = try opened(.tcp(host: "127.0.0.1", port: 0))
            defer { close(first) }
            let (second, other) = try opened(.tcp(host: "127.0.0.1", port: 0))
            defer { close(second) }
            guard case .tcp(let end) = other else { return }
            let sockets = try ListeningSockets(inherited: [first, second])
            var others = try ListeningSockets(inherited: [first, second])
            try others.change(to: [.tcp(host: "127.0.0.1", port: end.port)])
            #expect(others.addresses == [other])
            #expect(try await addresses(try sockets.unusedForServer(besides: others.addresses)) == [address])
            #expect(try await addresses(try sockets.unusedForServer()) == [address, other])
        }

        @Test("an inherited Unix socket keeps its permissions and its file")
        func inheritedFile() throws {
            var manager = ListeningSockets()
            try manager.change(to: [.unix(path: path, mode: 0o666, group: nil)])
            guard case .descriptor(let descriptor) = try manager.forServer().first else { return }
            #expect(ListeningSockets.paths(of: [descriptor]) == [path])
            var sockets = try ListeningSockets(inherited: [descriptor])
            try sockets.change(to: [.unix(path: path, mode: 0o600, group: nil)])
            #expect(sockets.unused == [])
            sockets.close()
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o666)
            close(descriptor)
        }

        @Test("a descriptor that does not listen is refused")
        func notListening() throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            #expect(throws: ServerError.self) { _ = try ListeningSockets(inherited: [descriptor]) }
        }

        private func addresses(_ listeners: [Listener]) async throws -> [BoundAddress] {
            var result: [BoundAddress] = []
            try await serve(listeners, "") { result = $0 }
            return result
        }
    }
}
