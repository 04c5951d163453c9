import EntitySchema
import ReferenceUpstream
import Upstream

/// The stored credentials of a simulated installation, and the file with its token, which outlives each process.
struct SystemAccount {
    private let secrets: SecretFiles
    private let tokens: TokenStore

    init(_ user: ReferenceUpstream.User, in folder: DatabaseFolder) throws {
        secrets = SecretFiles(paths: [
            "user": try folder.newPrivateFile(user.name), "password": try folder.newPrivateFile(user.password),
        ])
        tokens = TokenStore(path: try folder.newPrivateFile())
    }

    func credentials(
        _ plan: UpstreamPlan, transport: any HTTPTransport, budget: RequestBudget?,
        now: @escaping @Sendable () -> Timestamp
    ) -> any Credentials {
        RotatingToken(
            UpstreamAccess(
                plan: plan, baseURL: "http://simulated", transport: transport, secrets: secrets, budget: budget,
                now: now), store: tokens)
    }
}
