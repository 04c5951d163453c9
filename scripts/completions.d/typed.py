"""Types each line of standard input and TAB into an interactive shell, and prints what the line is then.

    typed.py bash|zsh|fish FILE-OF-THE-COMPLETIONS FOLDER-OF-THE-COMMAND
"""

import os
import pty
import select
import shutil
import sys
import tempfile
import time

PATIENCE = 120

BASH = r"""
source {script}
show() {{ printf '\n<<<%s>>>\n' "$READLINE_LINE"; }}
bind -x '"\C-x": show'
PS1= PS2= PROMPT_COMMAND='printf "\nREADY\n"'
"""

ZSH = r"""
autoload -Uz compinit && compinit -u -D
source {script}
PS1= PS2= PROMPT_EOL_MARK=
unsetopt beep
show() {{ print -rn -- $'\n<<<'"$BUFFER"$'>>>\n' }}
ready() {{ print -rn -- $'\nREADY\n' }}
zle -N show
zle -N zle-line-init ready
bindkey '^X' show
"""

FISH = r"""
source {script}
function fish_prompt; printf '\nREADY\n'; end
function show; printf '\n<<<%s>>>\n' (commandline -b | string collect); end
bind \cx show
"""

TAB, SHOW, ERASE = b"\t", b"\x18", b"\x15"


def start(shell, script, folder, home):
    """The terminal of a new shell that completes the command in the folder."""
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8", "HOME": home, "ZDOTDIR": home}
    if shell == "bash":
        with open(f"{home}/start", "w", encoding="utf-8") as file:
            file.write(BASH.format(script=script))
        arguments = ["bash", "--noprofile", "--rcfile", f"{home}/start", "-i"]
    elif shell == "zsh":
        with open(f"{home}/.zshrc", "w", encoding="utf-8") as file:
            file.write(ZSH.format(script=script))
        arguments = ["zsh", "-i"]
    else:
        arguments = ["fish", "--no-config", "-i", "-C", FISH.format(script=script)]
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(arguments[0], arguments, environment)
    return terminal


def read(terminal, end):
    """What the shell prints until `end`."""
    text, deadline = "", time.monotonic() + PATIENCE
    while end not in text:
        if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
            sys.exit(f"typed.py: no {end!r} in {text!r}")
        try:
            text += os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            sys.exit(f"typed.py: the shell ended after {text!r}")
    return text


def main():
    shell, script, folder = sys.argv[1:]
    home = tempfile.mkdtemp()
    try:
        terminal = start(shell, os.path.abspath(script), os.path.abspath(folder), home)
        read(terminal, "READY")
        for line in sys.stdin.read().splitlines():
            # The shell reads a key only when it is done with the one before.
            os.write(terminal, line.encode() + TAB + SHOW)
            print(read(terminal, ">>>").split("<<<")[1].split(">>>")[0].replace("\r", ""))
            os.write(terminal, ERASE)
        os.close(terminal)
    finally:
        shutil.rmtree(home, ignore_errors=True)


main()
