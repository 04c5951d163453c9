internal import SocketServer

extension Problem {
    private static let hint = "; a + in a query means a space: send %2B for a plus"

    /// Says so where a `+` in the query made a value invalid: a time with an offset, a number with a sign.
    func explainingPlus(in request: Request) -> Problem {
        guard let query = request.query, query.utf8.contains(UInt8(ascii: "+")) else {
            return self
        }
        let names = query.utf8.split(separator: UInt8(ascii: "&")).filter { $0.contains(UInt8(ascii: "+")) }.map {
            item in
            PercentCoding.decode(Substring(item.prefix { $0 != UInt8(ascii: "=") }), plusIsSpace: true)
        }
        var problem = self
        for index in errors.indices
        where errors[index].place == .query && errors[index].code == ProblemCode.invalidParameter.rawValue
            && names.contains(where: { name in
                // A comparison is reported under its field.
                guard let name else { return false }
                return name == errors[index].field || name.hasPrefix(errors[index].field + ".")
            })
        {
            problem.errors[index].message += Self.hint
        }
        let isExplained = problem.errors.contains { $0.message.hasSuffix(Self.hint) }
        if isExplained { problem.detail += Self.hint }
        return problem
    }
}
