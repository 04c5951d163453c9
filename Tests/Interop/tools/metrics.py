"""promtool parses the metrics and judges their names, types and help texts."""
import subprocess
import sys
import urllib.request

with urllib.request.urlopen(f"http://{sys.argv[1]}/metrics") as answer:
    text = answer.read()
outcome = subprocess.run(["promtool", "check", "metrics"], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
for line in outcome.stdout.decode().splitlines():
    print(f"  {line}")
print(f"  {text.count(b'# TYPE ')} metrics")
# promtool says what it dislikes also where it exits with 0.
sys.exit(1 if outcome.returncode or outcome.stdout or b"# TYPE " not in text else 0)
