internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The next page of a list as a header field: `Link: </v1/orders?limit=2&cursor=…>; rel="next"` (RFC 8288).
enum NextLink {
    static func add(_ cursor: String?, to response: inout Response, of request: Request) {
        guard let cursor else { return }
        response.headers.append(("Link", link(to: request, at: cursor)))
    }

    /// A page of a list whose cursor is `next`; nil on the last.
    static func page(_ data: [JSONText], next: String?, of request: Request) -> Response {
        var response = Response.document(.object(["data": .array(data), "next": .string(next)]))
        add(next, to: &response, of: request)
        return response
    }

    /// To the address of the request with another cursor; everything else stays as it was sent.
    private static func link(to request: Request, at cursor: String) -> String {
        var (query, cursor) = (request.query ?? "", cursor)
        if !cursor.withUTF8({ $0.allSatisfy(isPlain) }) { cursor = Entity.percentEncoded(cursor) }
        var link: [UInt8] = []
        link.reserveCapacity(request.path.utf8.count + query.utf8.count + cursor.utf8.count + 32)
        link.append(UInt8(ascii: "<"))
        link += request.path.utf8
        link.append(UInt8(ascii: "?"))
        query.withUTF8 { query in
            for item in query.split(separator: UInt8(ascii: "&")) where !isCursor(item) {
                link += item
                link.append(UInt8(ascii: "&"))
            }
        }
        link += "cursor=".utf8
        link += cursor.utf8
        link += ">; rel=\"next\"".utf8
        return String(decoding: link, as: UTF8.self)
    }

    /// What most cursors are made of, which saves encoding them.
    static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }

    private static func isCursor(_ item: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let name = item.prefix { $0 != UInt8(ascii: "=") }
        return name.elementsEqual("cursor".utf8)
            || name.contains(UInt8(ascii: "%"))
                && PercentCoding.decode(Substring(decoding: name, as: UTF8.self)) == "cursor"
    }
}
