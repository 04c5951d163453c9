/// The collection that PocketBase keeps orders in: open to everybody, indexed as the daemon's own.
migrate((app) => {
  const numbers = ["order_number", "total", "deposit", "balance", "device_count"];
  const texts = [
    "status", "notes", "client_id", "client_name", "client_email", "client_phone", "location_id", "location_name",
    "assigned_user_id", "assigned_user_name", "created_at", "updated_at",
  ];
  const indexed = ["order_number", "status", "client_id", "created_at", "updated_at"];
  app.save(new Collection({
    type: "base", name: "orders", listRule: "", viewRule: "", createRule: "", updateRule: "",
    fields: [
      ...numbers.map((name) => ({ name, type: "number" })),
      ...texts.map((name) => ({ name, type: "text" })),
    ],
    indexes: [
      ...indexed.map((name) => `CREATE INDEX orders_by_${name} ON orders (${name})`),
      "CREATE INDEX orders_by_status_and_time ON orders (status, created_at)",
    ],
  }));
});
