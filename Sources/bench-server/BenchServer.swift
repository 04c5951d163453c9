internal import Foundation
internal import SocketServer

/// An upstream with almost no overhead, for benchmarks: every page is built before the first request.
///
/// Serves the lists of Repair Minder from `<entity>.ndjson` files, complete or since a time, and static files, to
/// compare the daemon's responses with the same bytes served from memory.
@main
enum BenchServer {
    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            var site = Site()
            if let data = options.data { try site.addUpstream(from: data, pageSize: options.pageSize) }
            if let files = options.files { try site.addFiles(in: files) }
            try await serve(site, options)
        } catch {
            FileHandle.standardError.write(Data("bench-server: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Serves until the process is terminated.
    private static func serve(_ site: Site, _ options: Options) async throws {
        let server = SocketServer(listeners: [.tcp(host: options.host, port: options.port)]) { site.answer($0) }
        let address = try server.bind().map(\.description).joined()
        if let urls = options.urls {
            try Data(site.downloads(from: address).utf8).write(to: URL(fileURLWithPath: urls))
        }
        // Written unbuffered: a script waits for this line, and a pipe would delay it.
        FileHandle.standardOutput.write(Data("listening on \(address)\n".utf8))
        try await server.run()
    }

    static func bytes(of path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
