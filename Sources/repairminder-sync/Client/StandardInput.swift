import Glibc
import JSONText
import SystemCalls

/// Standard input as the body of a request.
enum StandardInput {
    /// The most that is read: what the daemon takes as content.
    private static let limit = 1 << 30

    /// Everything up to its end.
    static func bytes() throws(CommandFailure) -> [UInt8] { try bytes(STDIN_FILENO, "standard input", limit) }

    /// The same of a file; throws for more than `most` bytes.
    static func bytes(of path: String, atMost most: Int = Self.limit) throws(CommandFailure) -> [UInt8] {
        let descriptor: Int32
        do {
            descriptor = try WholeFile.open(path)
        } catch {
            throw CommandFailure(
                .badData,
                "root does not read \(path), where another user has put a link or a pipe, or could; name a file, by a path "
                    + "without links")
        }
        guard descriptor >= 0 else {
            throw CommandFailure(.badData, "\(path) cannot be read: \(SystemError.last)")
        }
        defer { close(descriptor) }
        return try bytes(descriptor, path, most)
    }

    private static func bytes(
        _ descriptor: Int32, _ name: String, _ limit: Int
    ) throws(CommandFailure) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(.badData, "\(name) cannot be read: \(SystemError.last)")
            }
            guard count > 0 else { return all }
            all += buffer[..<count]
            guard all.count <= limit else { throw CommandFailure(.badData, "\(name) has more than \(limit >> 20) MiB") }
        }
    }

    /// A JSON object.
    static func object() throws(CommandFailure) -> JSONText {
        let bytes = try bytes()
        do {
            let body = try JSONText(bytes)
            if body.kind == .object { return body }
        } catch {
            throw CommandFailure(.badData, "standard input is \(error)")
        }
        throw CommandFailure(.badData, "standard input is not a JSON object; expected {\"field\": value, …}")
    }
}

/// A file that has the value of one field, so that it need not stand in the list of arguments, which other users can read.
enum ValueFile {
    static let standardInput = "-"

    /// In bytes: more than a record may have.
    private static let largest = 16 << 20

    static func bytes(_ file: String) throws(CommandFailure) -> [UInt8] {
        if file == standardInput { return try StandardInput.bytes() }
        do {
            return try StandardInput.bytes(of: Environment.ofThisProcess().absolute(file), atMost: largest)
        } catch {
            throw CommandFailure(error.status, "\(error.message); text that begins with @ is written with @@")
        }
    }

    /// What messages call it.
    static func name(_ file: String) -> String { file == standardInput ? "standard input" : file }

    /// Without the line break that editors and `echo` put at the end.
    static func withoutLineEnd(_ text: String) -> String {
        // A CRLF is one character.
        ["\n", "\r\n"].contains(text.last) ? String(text.dropLast()) : text
    }
}
