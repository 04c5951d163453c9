internal import EntitySchema
internal import JSONText

/// The sample shop before it becomes records: money in pence, times in milliseconds since 1970.
struct Shop {
    var clients: [Client] = []
    var orders: [Order] = []
    var devices: [Device] = []
    var tickets: [Ticket] = []
    var messages: [Message] = []

    /// How many orders existed at that time; they are in the order of creation.
    func ordersUntil(_ time: Int64) -> Int {
        var low = 0
        var high = orders.count
        while low < high {
            let middle = (low + high) / 2
            if orders[middle].created <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    struct Client {
        var id: String
        var number: Int
        var firstName: String
        var lastName: String
        var phone: String?
        var company: String?
        var address: String
        var city: String
        var postcode: String
        var notes: String?
        var orders = 0
        var spent = 0
        var created: Int64
        var updated: Int64

        var name: String { "\(firstName) \(lastName)" }
        var email: String { "client\(number + 1)@example.org" }

        var json: JSONText {
            .object([
                "id": .string(id), "email": .string(email), "first_name": .string(firstName),
                "last_name": .string(lastName), "phone": .string(phone), "company": .string(company),
                "address": .string(address), "city": .string(city), "postcode": .string(postcode),
                "notes": .string(notes), "order_count": .integer(orders), "total_spent": .money(spent),
                "created_at": .time(created), "updated_at": .time(updated),
            ])
        }
    }

    struct Order {
        var id: String
        var number: Int
        var status: String
        var notes: String?
        /// The index of its client.
        var client: Int
        var location: ShopWords.Person
        var assigned: ShopWords.Person?
        var paysDeposit: Bool
        /// A copy of its client, once that is complete.
        var clientRecord: Client
        var devices = 0
        var total = 0
        var deposit = 0
        var balance = 0
        var created: Int64
        var updated: Int64

        var json: JSONText {
            .object([
                "id": .string(id), "order_number": .integer(number), "status": .string(status),
                "total": .money(total), "deposit": .money(deposit), "balance": .money(balance),
                "notes": .string(notes), "client_id": .string(clientRecord.id),
                "client_name": .string(clientRecord.name), "client_email": .string(clientRecord.email),
                "client_phone": .string(clientRecord.phone), "location_id": .string(location.id),
                "location_name": .string(location.name), "assigned_user_id": .string(assigned?.id),
                "assigned_user_name": .string(assigned?.name), "device_count": .integer(devices),
                "created_at": .time(created), "updated_at": .time(updated),
            ])
        }
    }

    struct Device {
        var id: String
        var order: String
        var model: ShopWords.Model
        var serial: String?
        var imei: String?
        var passcode: String?
        var status: String
        var issue: String
        var diagnosis: String?
        var resolution: String?
        var price: Int
        var assigned: ShopWords.Person?
        var created: Int64
        var updated: Int64

        var json: JSONText {
            .object([
                "id": .string(id), "order_id": .string(order), "type": .string(model.type),
                "brand": .string(model.brand), "model": .string(model.model), "serial": .string(serial),
                "imei": .string(imei), "passcode": .string(passcode), "status": .string(status),
                "issue": .string(issue), "diagnosis": .string(diagnosis), "resolution": .string(resolution),
                "price": .money(price), "assigned_user_id": .string(assigned?.id),
                "assigned_user_name": .string(assigned?.name), "created_at": .time(created),
                "updated_at": .time(updated),
            ])
        }
    }

    struct Ticket {
        var id: String
        var number: Int
        var subject: String
        var status: String
        var priority: String
        var client: Client
        var order: Order?
        var assigned: ShopWords.Person?
        var messages = 0
        var created: Int64
        var updated: Int64
        var lastMessage: Int64

        var json: JSONText {
            .object([
                "id": .string(id), "ticket_number": .integer(number), "subject": .string(subject),
                "status": .string(status), "priority": .string(priority), "client_id": .string(client.id),
                "client_email": .string(client.email), "client_name": .string(client.name),
                "assigned_user_id": .string(assigned?.id), "assigned_user_name": .string(assigned?.name),
                "order_id": .string(order?.id), "order_ref": .string(order.map { "#\($0.number)" }),
                "message_count": .integer(messages), "last_message_at": .time(lastMessage),
                "created_at": .time(created), "updated_at": .time(updated),
            ])
        }
    }

    struct Message {
        var id: String
        var ticket: String
        var content: String
        var isClient: Bool
        var senderName: String
        var senderID: String
        var isInternal: Bool
        var created: Int64

        var json: JSONText {
            .object([
                "id": .string(id), "ticket_id": .string(ticket), "content": .string(content),
                "sender_type": .string(isClient ? "client" : "staff"), "sender_name": .string(senderName),
                "sender_id": .string(senderID), "is_internal": .boolean(isInternal), "created_at": .time(created),
            ])
        }
    }
}

extension JSONText {
    fileprivate static func money(_ pence: Int) -> JSONText { .decimal(pence, places: 2) }

    fileprivate static func time(_ milliseconds: Int64) -> JSONText {
        .string(Timestamp(milliseconds: milliseconds).description)
    }
}
