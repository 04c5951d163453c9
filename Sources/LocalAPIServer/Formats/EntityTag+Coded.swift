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

    /// Gives a 304 the tag of the compressed answer, if that is what the caller has.
    static func name(_ response: inout Response, as request: Request) {
        guard let tag = response.tag else { return }
        // Most callers send one tag, and what is no longer than the plain one cannot have the other.
        if let only = request.headers[single: "If-None-Match"], only.utf8.count <= tag.utf8.count { return }
        let known = request.headers[all: "If-None-Match"]
        let coded = coded(tag)
        // To search a text would take as long as all the rest of the answer.
        let isCoded = known.contains { $0 == coded || $0.utf8.count > coded.utf8.count && $0.contains(coded) }
        if isCoded { markCoded(&response) }
    }
}
