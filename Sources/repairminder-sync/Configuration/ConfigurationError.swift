/// A configuration that cannot be used: where it says so, and what was expected there.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// A file with its line and key, a flag, or an environment variable; empty when no single place is at fault.
    var place: String
    var problem: String

    var description: String { place.isEmpty ? problem : "\(place): \(problem)" }
}
