/// A record of one entity with a property for each field of the schema, as `repairminder-sync generate swift` writes it.
///
/// It wraps the record as it came: what the schema does not know is kept, and a value of another type is nil here and
/// stands in `record`.
public protocol TypedRecord: Sendable, Hashable, Identifiable where ID == RecordID<Self> {
    /// What lists filter and sort by.
    associatedtype Fields: RecordFields
    /// The records that can come along.
    associatedtype Relations: RecordRelations

    /// The name of the entity.
    static var entity: String { get }

    /// The record as it came.
    var record: Record { get }

    /// Wraps a record.
    init(_ record: Record)
}

/// A record that can be created.
public protocol CreatableRecord: TypedRecord {
    /// What a new record has.
    associatedtype New: RecordFieldsToWrite
}

/// A record that can be changed.
public protocol UpdatableRecord: TypedRecord {
    /// The fields that can be changed.
    associatedtype Changes: EmptyFieldsToWrite
}

/// A record that can be deleted.
public protocol DeletableRecord: TypedRecord {}

/// A record with content, such as a picture.
public protocol ContentRecord: TypedRecord {}

/// A record whose content can be set.
public protocol UploadableRecord: ContentRecord {}

/// Fields to write. Those that are not set are not sent; one that is set to nil is sent as null.
public protocol RecordFieldsToWrite: Sendable, Hashable {
    /// The fields as they are sent.
    var fields: JSONObject { get set }
}

/// Fields to write, none of which has to be set.
public protocol EmptyFieldsToWrite: RecordFieldsToWrite {
    /// No field.
    init()
}

/// The fields of an entity, to filter and to sort by.
public protocol RecordFields: Sendable {
    /// The fields in this place.
    init(_ scope: FieldScope)
}

/// Where fields stand in a condition: in the record, or in one that it refers to.
public struct FieldScope: Sendable, Hashable {
    /// What stands before the name of a field: nothing, or `client.`.
    let prefix: String

    /// A field of any type but text.
    public func value<Value>(_ name: String) -> ValueField<Value> { ValueField(name: prefix + name) }
    /// A field of text.
    public func text<Value>(_ name: String) -> TextField<Value> { TextField(name: prefix + name) }
    /// A field that is stored encrypted.
    public func sealed<Value>(_ name: String) -> SealedField<Value> { SealedField(name: prefix + name) }
    /// A list.
    public func list(_ name: String) -> ListField { ListField(name: prefix + name) }
    /// An object.
    public func object(_ name: String) -> ObjectField { ObjectField(name: prefix + name) }
}

/// The relations of an entity, to include their records.
public protocol RecordRelations: Sendable {
    /// The relations behind this path.
    init(_ path: RelationPath)
    /// The way to these records.
    var path: RelationPath { get }
}

/// The way from a record to related ones: `devices.order`.
public struct RelationPath: Sendable, Hashable {
    /// The path as it is sent; empty for the record itself.
    let text: String

    /// One relation further.
    public func then(_ relation: String) -> RelationPath {
        RelationPath(text: text.isEmpty ? relation : "\(text).\(relation)")
    }
}
