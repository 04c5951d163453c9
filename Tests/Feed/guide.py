def guide(postgres, folder, arguments):
    return "nothing yet"
