/// The command-line options.
struct Options {
    /// The directory with `<entity>.ndjson` files; nil for no lists.
    private(set) var data: String?
    private(set) var pageSize = 500
    private(set) var host = "127.0.0.1"
    private(set) var port: UInt16 = 0
    /// A directory of static files to serve.
    private(set) var files: String?
    /// The path of the generated `curl -K` file that downloads every page.
    private(set) var urls: String?

    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String]) throws(Unusable) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Unusable(description: "\(name) needs a value") }
            switch name {
            case "--data": data = value
            case "--page-size": pageSize = try Self.positive(value, name)
            case "--listen": (host, port) = try Self.address(value)
            case "--files": files = value
            case "--urls": urls = value
            default: throw Unusable(description: "unknown option \(name)")
            }
        }
    }

    private static func positive(_ value: String, _ name: String) throws(Unusable) -> Int {
        guard let number = Int(value), number > 0 else {
            throw Unusable(description: "\(name) is \(value); expected a whole number of at least 1")
        }
        return number
    }

    private static func address(_ value: String) throws(Unusable) -> (String, UInt16) {
        guard let colon = value.lastIndex(of: ":"), let port = UInt16(value[value.index(after: colon)...]) else {
            throw Unusable(description: "--listen is \(value); expected host:port, such as 127.0.0.1:0")
        }
        return (String(value[..<colon]), port)
    }
}
