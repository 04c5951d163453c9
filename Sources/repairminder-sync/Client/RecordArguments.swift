import ArgumentParser
import LocalAPI

/// The arguments of the commands about one record.
struct RecordArguments: ParsableArguments {
    @Argument(help: "The entity, such as orders.", completion: .custom(RecordCompletion.entities))
    var entity: String

    @Argument(help: RecordWriting.idHelp, completion: .custom(RecordCompletion.ids))
    var id: String

    /// The record's key; see `RecordID`.
    func key(_ client: LocalAPIClient) async throws(LocalAPIError) -> String {
        try await RecordID.key(of: id, in: entity, client)
    }

    /// The path of the record in the local API, for a write.
    func pathToWrite(_ client: LocalAPIClient) async throws(CommandFailure) -> String {
        LocalAPIPaths.record(of: entity, id: try await RecordID.keyToWrite(id, in: entity, client))
    }
}
