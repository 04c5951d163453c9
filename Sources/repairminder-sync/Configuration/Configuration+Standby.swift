import Standby
import Upstream

/// How etcd is reached.
extension Configuration.Standby {
    /// `name`: what this daemon is called in etcd.
    func settings(name: String) -> StandbySettings {
        StandbySettings(members: members, key: key, ttl: ttl, isSync: isSync, name: name)
    }

    /// Nil if etcd asks for none.
    func etcdUser() throws -> EtcdGateway.User? {
        guard let user, let passwordFile else { return nil }
        let secrets = try SignalSecrets(path: passwordFile, key: "standby.password_file").read()
        return secrets.first.map { EtcdGateway.User(name: user, password: String(decoding: $0, as: UTF8.self)) }
    }

    /// One of its own: no other request shares its thread or its certificate.
    func transport() throws -> CurlTransport {
        var certificate: (file: String, keyFile: String)?
        if let certificateFile, let certificateKeyFile { certificate = (certificateFile, certificateKeyFile) }
        return try CurlTransport(
            userAgent: ProgramVersion.userAgent, caFile: caFile, certificate: certificate,
            answerLimit: EtcdGateway.largestAnswer)
    }
}
