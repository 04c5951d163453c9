internal import SocketServer

/// The tags of compressed answers. A compressed answer is another representation, so its strong tag is another one (RFC
/// 9110, 8.8.3.3): that of the plain answer, with an ending that every condition ignores.
extension EntityTag {
    /// Gives a compressed answer its own tag.
    static func markCoded(_ response: inout Response) {
        for index in response.headers.indices where response.headers[index].name == "ETag" {
            response.headers[index].value = coded(response.headers[index].value)
        }
    }

    /// A 304 with the tag of the compressed answer, if that is what the caller has.
    static func naming(_ response: Response, as request: Request) -> Response {
        guard let coded = response.tag.map(coded) else { return response }
        // Most callers send one tag. To search a text would take as long as all the rest of the answer.
        let isKnown = request.headers[all: "If-None-Match"].contains { known in
            known == coded || known.utf8.count > coded.utf8.count && known.contains(coded)
        }
        guard isKnown else { return response }
        var response = response
        markCoded(&response)
        return response
    }

    private static func coded(_ tag: String) -> String { String(Substring(tag.utf8.dropLast())) + codedEnding + "\"" }
}
