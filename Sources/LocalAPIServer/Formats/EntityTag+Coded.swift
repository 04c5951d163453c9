internal import SocketServer

/// The tags of compressed answers. A compressed answer is another representation, so its strong tag is another one (RFC
/// 9110, 8.8.3.3): that of the plain answer, with an ending that every condition ignores.
extension EntityTag {
    /// Gives a compressed answer its own tag.
    static func markCoded(_ response: inout Response) {
        for index in response.headers.indices where response.headers[index].name == "ETag" {
            response.headers[index].value = response.headers[index].value.dropLast() + codedEnding + "\""
        }
    }

    /// A 304 with the tag of the compressed answer, if that is what the caller has.
    static func naming(_ response: Response, as request: Request) -> Response {
        let known = request.headers[all: "If-None-Match"]
        guard let tag = response.tag, known.contains(where: { $0.contains(tag.dropLast() + codedEnding + "\"") }) else {
            return response
        }
        var response = response
        markCoded(&response)
        return response
    }
}
