internal import EntitySchema

/// The headers that the schema wants in every request, with the credentials in them.
///
/// Their files are read for each request, so you can replace one without a restart.
extension HTTPCaller {
    /// The request with the token and these headers. Throws if a credential is not stored; then nothing is sent.
    func prepared(_ call: WireRequest, _ token: String?) throws(UpstreamError) -> WireRequest {
        var call = call.authorized(by: token, at: tokenPlace)
        let known: [String: String]
        do {
            known = try storedSecrets()
        } catch {
            throw .held(error.message)
        }
        call.add(headers.map { $0.filled(with: known) })
        call.secrets += known.values
        return call
    }

    /// The texts that no error may repeat.
    var headerSecrets: [String] { (try? storedSecrets()).map { Array($0.values) } ?? [] }

    /// Why these headers cannot be sent; nil if they can.
    var missingSecret: String? { files.problem(with: secretNames) }

    private func storedSecrets() throws(TokenFileError) -> [String: String] { try files.values(of: secretNames) }

    private var secretNames: [String] { headers.flatMap(\.secretNames) }

    private var files: SecretFiles { secrets ?? SecretFiles(paths: [:]) }
}
