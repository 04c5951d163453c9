/// Collects the mistakes of a request, so that its caller learns of all of them at once.
struct Mistakes {
    private var problems: [Problem] = []

    /// What `read` returns, or `standard` after a mistake.
    mutating func collect<Value>(_ standard: Value, _ read: () throws(Problem) -> Value) -> Value {
        do throws(Problem) {
            return try read()
        } catch {
            problems.append(error)
            return standard
        }
    }

    mutating func collect(_ read: () throws(Problem) -> Void) { collect((), read) }

    mutating func add(_ more: [Problem]) { problems += more }

    var isEmpty: Bool { problems.isEmpty }

    func throwAny() throws(Problem) {
        if !problems.isEmpty { throw Problem(problems) }
    }
}
