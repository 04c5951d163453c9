import ArgumentParser
import JSONText
import LocalAPI

/// Any call of the local API, for what no other command does.
struct APICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api", abstract: "Make any call of the local API and print the answer.",
        discussion: """
            repairminder-sync api /v1/status
            repairminder-sync api PATCH /v1/orders/ID -d '{"status": "ready"}'
            repairminder-sync api POST /v1/orders -d - <order.json
            """)

    @Argument(
        help: ArgumentHelp(
            "The method, then the path with its query; GET or POST without one.", valueName: "method|path"))
    var call: [String]

    @Option(
        name: [.short, .long], parsing: .unconditional,
        help: ArgumentHelp("The body; - reads it from standard input. Without a method it makes the call a POST."))
    var data: String?

    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp("A header field, such as 'If-Match: *'; repeatable.", valueName: "name: value"))
    var header: [String] = []

    @OptionGroup(title: "Where the daemon is")
    var connection: ConnectionOptions

    /// In bytes: the answer can be a content.
    private static let largestFile = 1 << 30

    private var method: String { call.count > 1 ? call[0].uppercased() : data == nil ? "GET" : "POST" }
    private var target: String { call.last ?? "" }

    func validate() throws { _ = try fields }

    /// Not in `validate`, which would report the value of a mistyped flag as a second path before the flag is reported.
    func requireCall() throws(CommandFailure) {
        guard (1...2).contains(call.count), target.hasPrefix("/") else {
            throw CommandFailure(.usage, "expected a path such as /v1/status, or a method and a path")
        }
        guard method.allSatisfy({ $0.isASCII && $0.isLetter }) else {
            throw CommandFailure(.usage, "\(method): expected a method such as GET")
        }
        // As curl names a file.
        if let data, data.hasPrefix("@") {
            throw CommandFailure(.usage, "-d takes the body itself; for one in a file write -d - <\(data.dropFirst())")
        }
    }

    func run() async throws {
        try requireCall()
        let body: [UInt8]? = if data == "-" { try StandardInput.bytes() } else { data.map { Array($0.utf8) } }
        let client = try connection.client(deadline: .seconds(180), largest: Self.largestFile)
        let answer = try await client.answer(
            to: LocalAPIRequest(method: method, target: target, headers: try fields, body: body))
        if StandardStream.output.isTerminal {
            let text = String(decoding: answer.body, as: UTF8.self)
            StandardStream.output.write(text.isEmpty || text.hasSuffix("\n") ? text : text + "\n")
        } else {
            try StandardStream.output.writeResult(answer.body)
        }
        // Only a 409 has several meanings; a picture is not read as JSON.
        let code = answer.status == 409 ? (try? JSONText(answer.body))?["code"]?.string : nil
        let status = CommandStatus(answering: answer.status, code: code)
        if status != .done { throw ExitCode(status.rawValue) }
    }

    /// The header fields. The daemon takes a write only as JSON unless it says otherwise, even one without a body.
    private var fields: [(name: String, value: String)] {
        get throws {
            var fields = try header.map { field in
                guard let colon = field.firstIndex(of: ":"), colon > field.startIndex,
                    !field.utf8.contains(where: { $0 < 0x20 })
                else { throw ValidationError("\(field): expected a header field such as 'If-Match: *'") }
                return (
                    name: String(field[..<colon]), value: String(field[field.index(after: colon)...].drop { $0 == " " })
                )
            }
            let hasType = fields.contains { $0.name.lowercased() == "content-type" }
            if method != "GET", method != "HEAD", !hasType { fields.append(("Content-Type", "application/json")) }
            return fields
        }
    }
}
