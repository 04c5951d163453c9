/// Text that is not JSON: what is wrong, and the byte offset at which it shows.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    package var problem: String
    package var offset: Int

    package var description: String { "not JSON: \(problem) at byte \(offset)" }
}
