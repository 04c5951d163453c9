import SocketServer
import Testing

@testable import LocalAPIServer

@Suite("The format of a list")
struct ListFormatTests {
    private func format(_ accept: String...) -> ListFormat {
        var headers = Headers()
        for value in accept { headers.append(name: "Accept", value: value) }
        return ListFormat(Request(method: "GET", path: "/v1/orders", headers: headers))
    }

    @Test("the format with the greatest weight is chosen, and of several the one that is named most exactly")
    func chosen() {
        #expect(format("text/csv") == .csv)
        #expect(format("Text/CSV; charset=utf-8") == .csv)
        #expect(format("application/x-ndjson") == .lines("application/x-ndjson"))
        #expect(format("application/jsonl") == .lines("application/jsonl"))
        #expect(format("application/json;q=0.5, text/csv;q=0.8") == .csv)
        #expect(format("application/json;q=0.5", "text/csv;q=0.4") == .page)
        #expect(format("text/csv, */*") == .csv)
        #expect(format("text/csv, application/json") == .page)
        #expect(format("*/*, text/csv;q=0") == .page)
    }

    @Test("a page of JSON is the answer to everything else")
    func otherwise() {
        #expect(format() == .page)
        for accept in [
            "*/*", "application/*", "text/*", "text/html,*/*;q=0.8", "image/png", "", "text/csv;q=x", ";", ",",
        ] {
            #expect(format(accept) == .page, "\(accept)")
        }
    }
}
