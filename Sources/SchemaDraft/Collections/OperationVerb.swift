extension APIOperation {
    /// Which of these it is described as doing, by the first words of its summary and its id, or by the last name of a GET:
    /// `Creates an order` and `createOrder` do `create`.
    func verb(among names: Set<String>) -> String? {
        let words = titles.compactMap { Words.snake($0).split(separator: "_").first.map { Words.singular(String($0)) } }
        let last = method == "GET" ? [path.lastSegment.lowercased()] : []
        return (words + last).first(where: names.contains)
    }
}
