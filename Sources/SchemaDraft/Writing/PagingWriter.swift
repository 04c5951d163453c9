/// Writes `pagination`.
enum PagingWriter {
    static func node(_ paging: DraftPaging) -> YAMLNode {
        var members = [YAMLNode.Member("style", .text(paging.style.word))]
        switch paging.style {
        case .single: break
        case .page(let parameter, let pages, let first):
            members.add("page", parameter)
            members.add("pages", pages)
            if let first { members.append(YAMLNode.Member("first", .word("\(first)"))) }
        case .offset(let parameter, let first):
            members.add("offset", parameter)
            if let first { members.append(YAMLNode.Member("first", .word("\(first)"))) }
        case .cursor(let parameter, let next):
            members.add("cursor", parameter)
            members.add("next", next)
        case .lastRecord(let parameter, let place):
            members.add("cursor", parameter)
            members.append(YAMLNode.Member("next", .mapping([YAMLNode.Member("last", .text(place))])))
        case .link: break
        case .nextURL(let next): members.add("next", next)
        }
        if paging.style != .single {
            members.add("size", paging.size ?? "none")
            if let size = paging.pageSize { members.append(YAMLNode.Member("page_size", .word("\(size)"))) }
        }
        if let total = paging.total {
            members.add("total", total)
        } else if let header = paging.totalHeader {
            members.append(YAMLNode.Member("total", .mapping([YAMLNode.Member("header", .text(header))])))
        }
        if let more = paging.more, takesMore(paging.style) { members.append(self.more(more, paging.moreIs)) }
        return .mapping(members)
    }

    private static func takesMore(_ style: DraftPaging.Style) -> Bool {
        ["page", "offset", "cursor"].contains(style.word)
    }

    private static func more(_ place: String, _ isTrue: Bool) -> YAMLNode.Member {
        if isTrue { return YAMLNode.Member("more", .text(place)) }
        return YAMLNode.Member(
            "more", .mapping([YAMLNode.Member("at", .text(place)), YAMLNode.Member("is", .word("false"))]))
    }
}
