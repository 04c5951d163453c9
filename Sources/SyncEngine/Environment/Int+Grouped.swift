extension Int {
    /// With a comma between thousands.
    var grouped: String {
        guard self >= 1000 else { return String(self) }
        let rest = String(self % 1000)
        return "\((self / 1000).grouped),\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
