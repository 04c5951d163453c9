internal import ArgumentParser
internal import EntitySchema

/// `127.0.0.1:7680` or `[::1]:7680`.
struct ListenAddress: ExpressibleByArgument {
    var host: String
    var port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...])
        else { return nil }
        var host = argument[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: port)
    }

    var defaultValueDescription: String { "\(host):\(port)" }
}

/// `50ms`, `15m`.
struct Time: ExpressibleByArgument {
    var duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { "\(duration.milliseconds / 1000)s" }
}
