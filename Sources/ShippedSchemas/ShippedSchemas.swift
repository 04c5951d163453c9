/// The schemas built into the programs: the files of config/schemas.
package enum ShippedSchemas {
    /// By the names that a configuration can give.
    package static var names: [String] { ["itori", "messages", "propdocs", "repairminder", "repairminder-live"] }

    /// The text of a schema's file; nil when no schema of that name is shipped.
    package static func text(of name: String) -> String? {
        let bytes: [UInt8]
        switch name {
        case "itori": bytes = PackageResources.itori_yaml
        case "messages": bytes = PackageResources.messages_yaml
        case "propdocs": bytes = PackageResources.propdocs_yaml
        case "repairminder": bytes = PackageResources.repairminder_yaml
        case "repairminder-live": bytes = PackageResources.repairminder_live_yaml
        default: return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
