import EntitySchema
import Foundation
import SchemaDraft
import Upstream

/// Where a description of an API comes from: a file, or an address that is fetched once.
struct DocumentSource {
    /// A path, `https://…`, or `http://` on this machine.
    let text: String

    var isAddress: Bool { text.hasPrefix("https://") || text.hasPrefix("http://") }

    func document() async throws(CommandFailure) -> OpenAPIDocument {
        let bytes = isAddress ? try await fetched() : try read()
        do throws(SchemaDraftError) {
            return try OpenAPIDocument(DocumentParser.value(of: bytes))
        } catch {
            throw CommandFailure(.badData, "\(text) cannot be used: \(error.message)")
        }
    }

    /// As root, no file that another user has chosen by a link: its text would be in the draft.
    private func read() throws(CommandFailure) -> [UInt8] {
        guard FileManager.default.fileExists(atPath: text) else {
            throw CommandFailure(.badData, "\(text) does not exist; check the path")
        }
        return try StandardInput.bytes(of: text, atMost: DocumentParser.largest)
    }

    /// What to say of an answer that names another address.
    static func elsewhere(_ location: String) -> String {
        "it is elsewhere: use --from \(ShellWord.quoted(location))"
    }

    private func fetched() async throws(CommandFailure) -> [UInt8] {
        guard !PlainHTTP.leavesMachine(text) else {
            throw CommandFailure(
                .usage, "\(text) would be fetched without encryption; use https://, or save it to a file")
        }
        do throws(TransportError) {
            let transport = try CurlTransport(
                userAgent: ProgramVersion.userAgent, answerLimit: DocumentParser.largest)
            let request = HTTPRequest(
                url: text, headers: [HTTPHeader("Accept", "application/json, application/yaml, */*")],
                deadline: .seconds(60), maximumBody: DocumentParser.largest)
            let response = try await transport.send(request)
            guard response.status != 200 else { return response.body }
            if (300..<400).contains(response.status), let location = response.header("Location") {
                throw TransportError.unacceptable(Self.elsewhere(location))
            }
            throw TransportError.unacceptable("the answer is status \(response.status)")
        } catch {
            throw CommandFailure(.unreachable, "cannot fetch \(text): \(error.reason)")
        }
    }
}
