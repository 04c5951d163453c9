/// Says what a file is that is no OpenAPI document, and what to do with it.
enum OtherDocument {
    private static let check = "check the address or the file"

    /// Of a value that is no object.
    static func reason(notObject root: DocumentValue) -> String {
        if root.text?.hasPrefix("<") == true {
            return
                "it is a web page; give the address of the document that the page shows, often …/openapi.json or …/swagger.json"
        }
        return "it is no OpenAPI document, which is one object; \(check)"
    }

    /// Of an object without a version of OpenAPI.
    static func reason(noVersion root: DocumentValue) -> String {
        let info = root["info"]
        if info?["_postman_id"] != nil || info?["schema"]?.text?.contains("getpostman.com") == true {
            return
                "it is a Postman collection; convert it to OpenAPI, or give the addresses of its lists to init --probe"
        }
        if root["log"]?["entries"] != nil {
            return "it is a recording of calls (HAR); give the addresses of its lists to init --probe"
        }
        if root["asyncapi"] != nil { return "it describes messages (AsyncAPI), and no calls" }
        if root["__schema"] != nil || root["data"]?["__schema"] != nil {
            return "it is a GraphQL schema; write the schema after the example in docs/guides/your-own-api.md#graphql"
        }
        let others = (root["urls"]?.elements ?? []).compactMap { $0["url"]?.text }
        if !others.isEmpty {
            return
                "it only names documents (\(others.prefix(5).joined(separator: ", "))); give the address of one of them"
        }
        return "it is no OpenAPI document: it has neither openapi nor swagger at the top; \(check)"
    }

    /// The name of another file that has the calls of the document; nil if it has them itself.
    static func fileWithCalls(_ paths: DocumentValue) -> String? {
        paths.members.lazy.flatMap { [$0.value] + $0.value.members.map(\.value) }
            .compactMap { $0["$ref"]?.text }.first { !$0.hasPrefix("#") }
    }
}
