// Written by `repairminder-sync generate swift`: do not edit, but generate it again when the schema changes.
// API v1, schema repairminder, SHA-256 ae589de503f05225aa6d859664e2416dca8ee1b6897e87b54a25f2e5124cd1f6.
// swift-format-ignore-file

public import Foundation
public import RepairminderClient

extension RepairminderClient {
    /// The records of `clients`.
    public var clients: TypedRecords<Client> { records(Client.self) }
    /// The records of `orders`.
    public var orders: TypedRecords<Order> { records(Order.self) }
    /// The records of `devices`.
    public var devices: TypedRecords<Device> { records(Device.self) }
    /// The records of `tickets`.
    public var tickets: TypedRecords<Ticket> { records(Ticket.self) }
    /// The records of `ticket_messages`.
    public var ticketMessages: TypedRecords<TicketMessage> { records(TicketMessage.self) }
}

// MARK: clients

/// A record of `clients`.
public struct Client: TypedRecord {
    /// The name of the entity.
    public static let entity = "clients"
    /// The record as it came, with what the schema does not know.
    public let record: Record
    /// Wraps a record.
    public init(_ record: Record) { self.record = record }

    public var id: RecordID<Client> { record.id("id") }
    public var email: String? { record.value("email") }
    public var firstName: String? { record.value("first_name") }
    public var lastName: String? { record.value("last_name") }
    public var fullName: String? { record.value("full_name") }
    public var initials: String? { record.value("initials") }
    public var phone: String? { record.value("phone") }
    public var company: String? { record.value("company") }
    public var address: String? { record.value("address") }
    public var city: String? { record.value("city") }
    public var postcode: String? { record.value("postcode") }
    public var notes: String? { record.value("notes") }
    public var orderCount: Int? { record.value("order_count") }
    public var totalSpent: Decimal? { record.value("total_spent") }
    public var createdAt: Date? { record.value("created_at") }
    public var updatedAt: Date? { record.value("updated_at") }
    /// Empty unless they were included.
    public var orders: [Order] { record.allRelated("orders").map(Order.init) }
    /// Empty unless they were included.
    public var tickets: [Ticket] { record.allRelated("tickets").map(Ticket.init) }

    /// What lists filter and sort by.
    public struct Fields: RecordFields {
        let scope: FieldScope
        /// The fields in this place.
        public init(_ scope: FieldScope) { self.scope = scope }
        public var id: TextField<Client.ID> { scope.text("id") }
        public var email: TextField<String> { scope.text("email") }
        public var firstName: TextField<String> { scope.text("first_name") }
        public var lastName: TextField<String> { scope.text("last_name") }
        public var fullName: TextField<String> { scope.text("full_name") }
        public var initials: TextField<String> { scope.text("initials") }
        public var phone: TextField<String> { scope.text("phone") }
        public var company: TextField<String> { scope.text("company") }
        public var address: TextField<String> { scope.text("address") }
        public var city: TextField<String> { scope.text("city") }
        public var postcode: TextField<String> { scope.text("postcode") }
        public var notes: TextField<String> { scope.text("notes") }
        public var orderCount: ValueField<Int> { scope.value("order_count") }
        public var totalSpent: ValueField<Decimal> { scope.value("total_spent") }
        public var createdAt: ValueField<Date> { scope.value("created_at") }
        public var updatedAt: ValueField<Date> { scope.value("updated_at") }
        public var syncedAt: ValueField<Date> { scope.value("synced_at") }
    }

    /// The records that can come along.
    public struct Relations: RecordRelations {
        /// The way to these records.
        public let path: RelationPath
        /// The relations behind this path.
        public init(_ path: RelationPath) { self.path = path }
        public var orders: Order.Relations { Order.Relations(path.then("orders")) }
        public var tickets: Ticket.Relations { Ticket.Relations(path.then("tickets")) }
    }
}

// MARK: orders

/// A record of `orders`.
public struct Order: CreatableRecord, UpdatableRecord {
    /// The name of the entity.
    public static let entity = "orders"
    /// The record as it came, with what the schema does not know.
    public let record: Record
    /// Wraps a record.
    public init(_ record: Record) { self.record = record }

    public var id: RecordID<Order> { record.id("id") }
    public var orderNumber: Int? { record.value("order_number") }
    public var displayRef: String? { record.value("display_ref") }
    public var status: Status? { record.value("status") }
    public var isActive: Bool? { record.value("is_active") }
    public var total: Decimal? { record.value("total") }
    public var deposit: Decimal? { record.value("deposit") }
    public var balance: Decimal? { record.value("balance") }
    public var isPaid: Bool? { record.value("is_paid") }
    public var notes: String? { record.value("notes") }
    public var clientID: Client.ID? { record.value("client_id") }
    public var clientName: String? { record.value("client_name") }
    public var clientEmail: String? { record.value("client_email") }
    public var clientPhone: String? { record.value("client_phone") }
    public var locationID: String? { record.value("location_id") }
    public var locationName: String? { record.value("location_name") }
    public var assignedUserID: String? { record.value("assigned_user_id") }
    public var assignedUserName: String? { record.value("assigned_user_name") }
    public var deviceCount: Int? { record.value("device_count") }
    public var createdAt: Date? { record.value("created_at") }
    public var updatedAt: Date? { record.value("updated_at") }
    /// Nil unless it was included.
    public var client: Client? { record.related("client").map(Client.init) }
    /// Empty unless they were included.
    public var devices: [Device] { record.allRelated("devices").map(Device.init) }
    /// Empty unless they were included.
    public var tickets: [Ticket] { record.allRelated("tickets").map(Ticket.init) }

    /// One of a list that grows: an unknown value is kept.
    public struct Status: OpenName, FieldValue {
        /// The value as it is sent.
        public let rawValue: String
        /// Any value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Booked In
        public static let bookedIn: Status = "booked_in"
        /// In Progress
        public static let inProgress: Status = "in_progress"
        /// Awaiting Parts
        public static let awaitingParts: Status = "awaiting_parts"
        /// Ready
        public static let ready: Status = "ready"
        /// Collected
        public static let collected: Status = "collected"
        /// Cancelled
        public static let cancelled: Status = "cancelled"
        /// The values that the schema has.
        public static let known: [Status] = [bookedIn, inProgress, awaitingParts, ready, collected, cancelled]
    }

    /// What lists filter and sort by.
    public struct Fields: RecordFields {
        let scope: FieldScope
        /// The fields in this place.
        public init(_ scope: FieldScope) { self.scope = scope }
        public var id: TextField<Order.ID> { scope.text("id") }
        public var orderNumber: ValueField<Int> { scope.value("order_number") }
        public var displayRef: TextField<String> { scope.text("display_ref") }
        public var status: TextField<Status> { scope.text("status") }
        public var isActive: ValueField<Bool> { scope.value("is_active") }
        public var total: ValueField<Decimal> { scope.value("total") }
        public var deposit: ValueField<Decimal> { scope.value("deposit") }
        public var balance: ValueField<Decimal> { scope.value("balance") }
        public var isPaid: ValueField<Bool> { scope.value("is_paid") }
        public var notes: TextField<String> { scope.text("notes") }
        public var clientID: TextField<Client.ID> { scope.text("client_id") }
        public var clientName: TextField<String> { scope.text("client_name") }
        public var clientEmail: TextField<String> { scope.text("client_email") }
        public var clientPhone: TextField<String> { scope.text("client_phone") }
        public var locationID: TextField<String> { scope.text("location_id") }
        public var locationName: TextField<String> { scope.text("location_name") }
        public var assignedUserID: TextField<String> { scope.text("assigned_user_id") }
        public var assignedUserName: TextField<String> { scope.text("assigned_user_name") }
        public var deviceCount: ValueField<Int> { scope.value("device_count") }
        public var createdAt: ValueField<Date> { scope.value("created_at") }
        public var updatedAt: ValueField<Date> { scope.value("updated_at") }
        public var syncedAt: ValueField<Date> { scope.value("synced_at") }
    }

    /// The records that can come along.
    public struct Relations: RecordRelations {
        /// The way to these records.
        public let path: RelationPath
        /// The relations behind this path.
        public init(_ path: RelationPath) { self.path = path }
        public var client: Client.Relations { Client.Relations(path.then("client")) }
        public var devices: Device.Relations { Device.Relations(path.then("devices")) }
        public var tickets: Ticket.Relations { Ticket.Relations(path.then("tickets")) }
    }

    /// What a new record has.
    public struct New: RecordFieldsToWrite {
        /// The fields as they are sent.
        public var fields: JSONObject = [:]
        /// With what it must have.
        public init(clientID: Client.ID) {
            fields.set("client_id", to: clientID)
        }
        public var id: Order.ID? { get { fields.value("id") } set { fields.set("id", to: newValue) } }
        public var orderNumber: Int? { get { fields.value("order_number") } set { fields.set("order_number", to: newValue) } }
        public var status: Status? { get { fields.value("status") } set { fields.set("status", to: newValue) } }
        public var total: Decimal? { get { fields.value("total") } set { fields.set("total", to: newValue) } }
        public var deposit: Decimal? { get { fields.value("deposit") } set { fields.set("deposit", to: newValue) } }
        public var balance: Decimal? { get { fields.value("balance") } set { fields.set("balance", to: newValue) } }
        public var notes: String? { get { fields.value("notes") } set { fields.set("notes", to: newValue) } }
        public var clientID: Client.ID? { get { fields.value("client_id") } set { fields.set("client_id", to: newValue) } }
        public var clientName: String? { get { fields.value("client_name") } set { fields.set("client_name", to: newValue) } }
        public var clientEmail: String? { get { fields.value("client_email") } set { fields.set("client_email", to: newValue) } }
        public var clientPhone: String? { get { fields.value("client_phone") } set { fields.set("client_phone", to: newValue) } }
        public var locationID: String? { get { fields.value("location_id") } set { fields.set("location_id", to: newValue) } }
        public var locationName: String? { get { fields.value("location_name") } set { fields.set("location_name", to: newValue) } }
        public var assignedUserID: String? { get { fields.value("assigned_user_id") } set { fields.set("assigned_user_id", to: newValue) } }
        public var assignedUserName: String? { get { fields.value("assigned_user_name") } set { fields.set("assigned_user_name", to: newValue) } }
        public var createdAt: Date? { get { fields.value("created_at") } set { fields.set("created_at", to: newValue) } }
        public var updatedAt: Date? { get { fields.value("updated_at") } set { fields.set("updated_at", to: newValue) } }
    }

    /// The fields that can be changed.
    public struct Changes: EmptyFieldsToWrite {
        /// The fields as they are sent.
        public var fields: JSONObject = [:]
        /// No field.
        public init() {}
        public var status: Status? { get { fields.value("status") } set { fields.set("status", to: newValue) } }
        public var notes: String? { get { fields.value("notes") } set { fields.set("notes", to: newValue) } }
    }
}

extension Filters<Order.Fields> {
    public var client: Client.Fields { related("client") }
}

// MARK: devices

/// A record of `devices`.
public struct Device: CreatableRecord, UpdatableRecord {
    /// The name of the entity.
    public static let entity = "devices"
    /// The record as it came, with what the schema does not know.
    public let record: Record
    /// Wraps a record.
    public init(_ record: Record) { self.record = record }

    public var id: RecordID<Device> { record.id("id") }
    public var orderID: Order.ID? { record.value("order_id") }
    public var type: String? { record.value("type") }
    public var brand: String? { record.value("brand") }
    public var model: String? { record.value("model") }
    public var displayName: String? { record.value("display_name") }
    public var serial: String? { record.value("serial") }
    public var imei: String? { record.value("imei") }
    public var status: Status? { record.value("status") }
    public var isActive: Bool? { record.value("is_active") }
    public var issue: String? { record.value("issue") }
    public var diagnosis: String? { record.value("diagnosis") }
    public var resolution: String? { record.value("resolution") }
    public var price: Decimal? { record.value("price") }
    public var assignedUserID: String? { record.value("assigned_user_id") }
    public var assignedUserName: String? { record.value("assigned_user_name") }
    public var createdAt: Date? { record.value("created_at") }
    public var updatedAt: Date? { record.value("updated_at") }
    /// Nil unless it was included.
    public var order: Order? { record.related("order").map(Order.init) }

    /// One of a list that grows: an unknown value is kept.
    public struct Status: OpenName, FieldValue {
        /// The value as it is sent.
        public let rawValue: String
        /// Any value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Booked In
        public static let bookedIn: Status = "booked_in"
        /// Diagnosing
        public static let diagnosing: Status = "diagnosing"
        /// Awaiting Approval
        public static let awaitingApproval: Status = "awaiting_approval"
        /// Approved
        public static let approved: Status = "approved"
        /// In Repair
        public static let inRepair: Status = "in_repair"
        /// Awaiting Parts
        public static let awaitingParts: Status = "awaiting_parts"
        /// Repaired
        public static let repaired: Status = "repaired"
        /// Quality Check
        public static let qualityCheck: Status = "quality_check"
        /// Ready
        public static let ready: Status = "ready"
        /// Collected
        public static let collected: Status = "collected"
        /// Unrepairable
        public static let unrepairable: Status = "unrepairable"
        /// The values that the schema has.
        public static let known: [Status] = [bookedIn, diagnosing, awaitingApproval, approved, inRepair, awaitingParts, repaired, qualityCheck, ready, collected, unrepairable]
    }

    /// What lists filter and sort by.
    public struct Fields: RecordFields {
        let scope: FieldScope
        /// The fields in this place.
        public init(_ scope: FieldScope) { self.scope = scope }
        public var id: TextField<Device.ID> { scope.text("id") }
        public var orderID: TextField<Order.ID> { scope.text("order_id") }
        public var type: TextField<String> { scope.text("type") }
        public var brand: TextField<String> { scope.text("brand") }
        public var model: TextField<String> { scope.text("model") }
        public var displayName: TextField<String> { scope.text("display_name") }
        public var serial: TextField<String> { scope.text("serial") }
        public var imei: TextField<String> { scope.text("imei") }
        public var status: TextField<Status> { scope.text("status") }
        public var isActive: ValueField<Bool> { scope.value("is_active") }
        public var issue: TextField<String> { scope.text("issue") }
        public var diagnosis: TextField<String> { scope.text("diagnosis") }
        public var resolution: TextField<String> { scope.text("resolution") }
        public var price: ValueField<Decimal> { scope.value("price") }
        public var assignedUserID: TextField<String> { scope.text("assigned_user_id") }
        public var assignedUserName: TextField<String> { scope.text("assigned_user_name") }
        public var createdAt: ValueField<Date> { scope.value("created_at") }
        public var updatedAt: ValueField<Date> { scope.value("updated_at") }
        public var syncedAt: ValueField<Date> { scope.value("synced_at") }
    }

    /// The records that can come along.
    public struct Relations: RecordRelations {
        /// The way to these records.
        public let path: RelationPath
        /// The relations behind this path.
        public init(_ path: RelationPath) { self.path = path }
        public var order: Order.Relations { Order.Relations(path.then("order")) }
    }

    /// What a new record has.
    public struct New: RecordFieldsToWrite {
        /// The fields as they are sent.
        public var fields: JSONObject = [:]
        /// With what it must have.
        public init(orderID: Order.ID) {
            fields.set("order_id", to: orderID)
        }
        public var id: Device.ID? { get { fields.value("id") } set { fields.set("id", to: newValue) } }
        public var orderID: Order.ID? { get { fields.value("order_id") } set { fields.set("order_id", to: newValue) } }
        public var type: String? { get { fields.value("type") } set { fields.set("type", to: newValue) } }
        public var brand: String? { get { fields.value("brand") } set { fields.set("brand", to: newValue) } }
        public var model: String? { get { fields.value("model") } set { fields.set("model", to: newValue) } }
        public var serial: String? { get { fields.value("serial") } set { fields.set("serial", to: newValue) } }
        public var imei: String? { get { fields.value("imei") } set { fields.set("imei", to: newValue) } }
        public var passcode: String? { get { fields.value("passcode") } set { fields.set("passcode", to: newValue) } }
        public var status: Status? { get { fields.value("status") } set { fields.set("status", to: newValue) } }
        public var issue: String? { get { fields.value("issue") } set { fields.set("issue", to: newValue) } }
        public var price: Decimal? { get { fields.value("price") } set { fields.set("price", to: newValue) } }
        public var assignedUserID: String? { get { fields.value("assigned_user_id") } set { fields.set("assigned_user_id", to: newValue) } }
    }

    /// The fields that can be changed.
    public struct Changes: EmptyFieldsToWrite {
        /// The fields as they are sent.
        public var fields: JSONObject = [:]
        /// No field.
        public init() {}
        public var status: Status? { get { fields.value("status") } set { fields.set("status", to: newValue) } }
        public var diagnosis: String? { get { fields.value("diagnosis") } set { fields.set("diagnosis", to: newValue) } }
        public var resolution: String? { get { fields.value("resolution") } set { fields.set("resolution", to: newValue) } }
    }
}

extension Filters<Device.Fields> {
    public var order: Order.Fields { related("order") }
}

// MARK: tickets

/// A record of `tickets`.
public struct Ticket: TypedRecord {
    /// The name of the entity.
    public static let entity = "tickets"
    /// The record as it came, with what the schema does not know.
    public let record: Record
    /// Wraps a record.
    public init(_ record: Record) { self.record = record }

    public var id: RecordID<Ticket> { record.id("id") }
    public var ticketNumber: Int? { record.value("ticket_number") }
    public var displayRef: String? { record.value("display_ref") }
    public var subject: String? { record.value("subject") }
    public var status: Status? { record.value("status") }
    public var isActive: Bool? { record.value("is_active") }
    public var priority: String? { record.value("priority") }
    public var clientID: Client.ID? { record.value("client_id") }
    public var clientEmail: String? { record.value("client_email") }
    public var clientName: String? { record.value("client_name") }
    public var assignedUserID: String? { record.value("assigned_user_id") }
    public var assignedUserName: String? { record.value("assigned_user_name") }
    public var orderID: Order.ID? { record.value("order_id") }
    public var orderRef: String? { record.value("order_ref") }
    public var messageCount: Int? { record.value("message_count") }
    public var lastMessageAt: Date? { record.value("last_message_at") }
    public var createdAt: Date? { record.value("created_at") }
    public var updatedAt: Date? { record.value("updated_at") }
    /// Nil unless it was included.
    public var client: Client? { record.related("client").map(Client.init) }
    /// Nil unless it was included.
    public var order: Order? { record.related("order").map(Order.init) }
    /// Empty unless they were included.
    public var messages: [TicketMessage] { record.allRelated("messages").map(TicketMessage.init) }

    /// One of a list that grows: an unknown value is kept.
    public struct Status: OpenName, FieldValue {
        /// The value as it is sent.
        public let rawValue: String
        /// Any value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Open
        public static let open: Status = "open"
        /// Pending
        public static let pending: Status = "pending"
        /// Closed
        public static let closed: Status = "closed"
        /// The values that the schema has.
        public static let known: [Status] = [open, pending, closed]
    }

    /// What lists filter and sort by.
    public struct Fields: RecordFields {
        let scope: FieldScope
        /// The fields in this place.
        public init(_ scope: FieldScope) { self.scope = scope }
        public var id: TextField<Ticket.ID> { scope.text("id") }
        public var ticketNumber: ValueField<Int> { scope.value("ticket_number") }
        public var displayRef: TextField<String> { scope.text("display_ref") }
        public var subject: TextField<String> { scope.text("subject") }
        public var status: TextField<Status> { scope.text("status") }
        public var isActive: ValueField<Bool> { scope.value("is_active") }
        public var priority: TextField<String> { scope.text("priority") }
        public var clientID: TextField<Client.ID> { scope.text("client_id") }
        public var clientEmail: TextField<String> { scope.text("client_email") }
        public var clientName: TextField<String> { scope.text("client_name") }
        public var assignedUserID: TextField<String> { scope.text("assigned_user_id") }
        public var assignedUserName: TextField<String> { scope.text("assigned_user_name") }
        public var orderID: TextField<Order.ID> { scope.text("order_id") }
        public var orderRef: TextField<String> { scope.text("order_ref") }
        public var messageCount: ValueField<Int> { scope.value("message_count") }
        public var lastMessageAt: ValueField<Date> { scope.value("last_message_at") }
        public var createdAt: ValueField<Date> { scope.value("created_at") }
        public var updatedAt: ValueField<Date> { scope.value("updated_at") }
        public var syncedAt: ValueField<Date> { scope.value("synced_at") }
    }

    /// The records that can come along.
    public struct Relations: RecordRelations {
        /// The way to these records.
        public let path: RelationPath
        /// The relations behind this path.
        public init(_ path: RelationPath) { self.path = path }
        public var client: Client.Relations { Client.Relations(path.then("client")) }
        public var order: Order.Relations { Order.Relations(path.then("order")) }
        public var messages: TicketMessage.Relations { TicketMessage.Relations(path.then("messages")) }
    }
}

extension Filters<Ticket.Fields> {
    public var client: Client.Fields { related("client") }
    public var order: Order.Fields { related("order") }
}

// MARK: ticket_messages

/// A record of `ticket_messages`.
public struct TicketMessage: CreatableRecord {
    /// The name of the entity.
    public static let entity = "ticket_messages"
    /// The record as it came, with what the schema does not know.
    public let record: Record
    /// Wraps a record.
    public init(_ record: Record) { self.record = record }

    public var id: RecordID<TicketMessage> { record.id("id") }
    public var ticketID: Ticket.ID? { record.value("ticket_id") }
    public var content: String? { record.value("content") }
    public var senderType: SenderType? { record.value("sender_type") }
    public var senderName: String? { record.value("sender_name") }
    public var senderID: String? { record.value("sender_id") }
    public var isInternal: Bool? { record.value("is_internal") }
    public var createdAt: Date? { record.value("created_at") }
    /// Nil unless it was included.
    public var ticket: Ticket? { record.related("ticket").map(Ticket.init) }

    /// One of a list that grows: an unknown value is kept.
    public struct SenderType: OpenName, FieldValue {
        /// The value as it is sent.
        public let rawValue: String
        /// Any value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Staff
        public static let staff: SenderType = "staff"
        /// Client
        public static let client: SenderType = "client"
        /// The values that the schema has.
        public static let known: [SenderType] = [staff, client]
    }

    /// What lists filter and sort by.
    public struct Fields: RecordFields {
        let scope: FieldScope
        /// The fields in this place.
        public init(_ scope: FieldScope) { self.scope = scope }
        public var id: TextField<TicketMessage.ID> { scope.text("id") }
        public var ticketID: TextField<Ticket.ID> { scope.text("ticket_id") }
        public var content: TextField<String> { scope.text("content") }
        public var senderType: TextField<SenderType> { scope.text("sender_type") }
        public var senderName: TextField<String> { scope.text("sender_name") }
        public var senderID: TextField<String> { scope.text("sender_id") }
        public var isInternal: ValueField<Bool> { scope.value("is_internal") }
        public var createdAt: ValueField<Date> { scope.value("created_at") }
        public var syncedAt: ValueField<Date> { scope.value("synced_at") }
    }

    /// The records that can come along.
    public struct Relations: RecordRelations {
        /// The way to these records.
        public let path: RelationPath
        /// The relations behind this path.
        public init(_ path: RelationPath) { self.path = path }
        public var ticket: Ticket.Relations { Ticket.Relations(path.then("ticket")) }
    }

    /// What a new record has.
    public struct New: RecordFieldsToWrite {
        /// The fields as they are sent.
        public var fields: JSONObject = [:]
        /// With what it must have.
        public init(ticketID: Ticket.ID, content: String) {
            fields.set("ticket_id", to: ticketID)
            fields.set("content", to: content)
        }
        public var id: TicketMessage.ID? { get { fields.value("id") } set { fields.set("id", to: newValue) } }
        public var ticketID: Ticket.ID? { get { fields.value("ticket_id") } set { fields.set("ticket_id", to: newValue) } }
        public var content: String? { get { fields.value("content") } set { fields.set("content", to: newValue) } }
        public var isInternal: Bool? { get { fields.value("is_internal") } set { fields.set("is_internal", to: newValue) } }
    }
}

extension Filters<TicketMessage.Fields> {
    public var ticket: Ticket.Fields { related("ticket") }
}
