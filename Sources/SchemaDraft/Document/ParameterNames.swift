/// The names of the parameters that say which records a page has, and of those that carry the token.
enum ParameterNames {
    static let pages = [
        "page", "page[number]", "pagenumber", "pageno", "p", "currentpage", "pagenum", "pageindex",
        "pagination[page]", "searchcriteria[currentpage]",
    ]
    static let offsets = [
        "offset", "skip", "start", "startindex", "firstresult", "skipcount", "recordindex", "page[offset]", "startat",
        "from", "first", "$skip", "pagination[start]", "limitstart", "startrow",
    ]
    static let cursors = [
        "cursor", "pagetoken", "page[cursor]", "page[after]", "continuationtoken", "nexttoken", "paginationtoken",
        "marker", "iterator", "startcursor", "startingafter", "after", "next", "nextcursor", "since", "bookmark",
        "scrollid",
        "nextpagetoken", "pagecursor",
    ]
    static let sizes = [
        "perpage", "pagesize", "limit", "size", "page[size]", "page[limit]", "maxitems", "maxresults", "count", "per",
        "pagelimit", "top", "$top", "rows", "take", "first", "itemsperpage", "numperpage",
        "pagination[pagesize]", "pagination[limit]", "searchcriteria[pagesize]", "maxresultcount", "resultsperpage",
        "$limit", "limitpagelength", "pagelength",
    ]

    fileprivate static let tokenHeaders: Set = [
        "authorization", "xapikey", "apikey", "xauthtoken", "authtoken", "xaccesstoken", "accesstoken", "apitoken",
        "xapitoken", "xtoken",
    ]
    fileprivate static let tokenQueries: Set = ["apikey", "apitoken", "accesstoken", "authtoken"]
}

extension APIOperation.Parameter {
    /// Whether it may say which records a page has, or how many.
    var isPaging: Bool {
        let names = ParameterNames.pages + ParameterNames.offsets + ParameterNames.cursors + ParameterNames.sizes
        return names.contains(name.lowercased()) || names.contains(Words.folded(name))
    }

    /// Whether it has the token by its name.
    var isToken: Bool {
        let name = Words.folded(name)
        return place == "header" && ParameterNames.tokenHeaders.contains(name)
            || place == "query" && ParameterNames.tokenQueries.contains(name)
    }
}
