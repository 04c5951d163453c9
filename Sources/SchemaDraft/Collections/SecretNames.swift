/// Which members hold credentials.
enum SecretNames {
    private static let secrets = ["password", "secret", "private_key", "api_key", "access_token", "passcode"]

    static func isSecret(_ shape: DataShape, name: String) -> Bool {
        guard shape.kind == .string, shape.enumValues.isEmpty else { return false }
        let word = Words.snake(name)
        return shape.format == "password" || secrets.contains { word == $0 || word.hasSuffix("_\($0)") }
    }
}
