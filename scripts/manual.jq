# Turns a command's --experimental-dump-help into a man page in roff (man(7)): the command, then each subcommand.

# Escapes text, so that roff reads no markup in it.
def plain: gsub("\\\\"; "\\e") | gsub("-"; "\\-") | gsub("(?m)^(?<c>[.'])"; "\\&" + .c);

def name: if .kind == "long" then "--" + .name elif .kind == "longWithSingleDash" then "-" + .name else "-" + .name end;

def value: if .valueName then .valueName else "value" end;

# --name <value>, as in a synopsis.
def usage:
    (if .kind == "positional" then "<" + value + ">"
     elif .kind == "flag" then (.preferredName | name)
     else (.preferredName | name) + " <" + value + ">" end);

def repeated: if .isRepeating then " ..." else "" end;
def optional($text): if .isOptional or .defaultValue then "[" + $text + "]" else $text end;

# The options that every command takes appear only once, at the top.
def own: [.arguments[]? | select(.shouldDisplay) | select([.names[]?.name] | any(. == "help" or . == "version") | not)];

def synopsis($path):
    [.arguments[]? | select(.shouldDisplay) | select(.kind == "positional") | optional(usage + repeated)] as $positional
    | [own[] | select(.kind != "positional")] as $options
    | ([$path] + (if $options != [] then ["[options]"] else [] end) + $positional
       + (if any(.subcommands[]?; .commandName != "help") then ["<command>"] else [] end)) | join(" ");

def argument:
    (if .kind == "positional" then "<" + value + ">" + repeated
     else ([.names[]? | name] | join(", ")) + (if .kind == "option" then " <" + value + ">" else "" end) end) as $head
    | ".TP\n.B \"" + ($head | plain | gsub("\""; "\\(dq")) + "\"\n"
    + (((.abstract // "") + (if .defaultValue then " (" + .defaultValue + ")" else "" end)) | plain)
    + (if .discussion then "\n" + (.discussion | plain) else "" end);

def arguments: [own[] | argument] | join("\n");

# Text with its line breaks.
def verbatim: ".nf\n" + plain + "\n.fi";

def chapter($path):
    ($path + .commandName) as $full
    | ".SS \"" + ($full | plain) + "\"\n" + ((.abstract // "") | plain) + "\n.PP\n.B " + (synopsis($full) | plain)
    + (if .discussion then "\n.PP\n" + (.discussion | verbatim) else "" end)
    + (arguments | if . == "" then "" else "\n" + . end)
    + ([.subcommands[]? | select(.shouldDisplay and .commandName != "help") | "\n" + chapter($full + " ")] | join(""));

.command | .commandName as $command
| ".TH \"" + ($command | ascii_upcase) + "\" 1 \"\" \"" + $command + " " + $version + "\"\n.SH NAME\n"
+ ($command | plain) + " \\- " + ((.abstract // "") | sub("\\.$"; "") | plain)
+ "\n.SH SYNOPSIS\n.B " + (synopsis($command) | plain)
+ "\n.SH OPTIONS\n" + ([.arguments[]? | select(.shouldDisplay) | argument] | join("\n"))
+ ([.subcommands[]? | select(.shouldDisplay and .commandName != "help") | chapter($command + " ")] | if . == [] then "" else "\n.SH COMMANDS\n" + join("\n") end)
+ (if .discussion then "\n.SH NOTES\n" + (.discussion | verbatim) else "" end)
