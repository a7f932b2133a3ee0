"""Runs cells in a kernel: notebook.py KERNEL FILE; a cell is what stands
between lines of %%. Prints what each shows, one line for each part."""
import sys

import nbformat
from nbclient import NotebookClient


def tell(kind, text):
    print(kind, repr(text)[1:-1])


source = open(sys.argv[2], encoding="utf-8").read()
cells = [nbformat.v4.new_code_cell(text) for text in source.split("\n%%\n")]
book = nbformat.v4.new_notebook(cells=cells)
NotebookClient(book, kernel_name=sys.argv[1], allow_errors=True,
               timeout=120).execute()
for number, cell in enumerate(book.cells, 1):
    print("cell", number)
    for output in cell.outputs:
        if output.output_type == "stream":
            tell(output.name, output.text)
        elif output.output_type == "error":
            tell("error", output.evalue)
        else:
            for name in sorted(output.data):
                tell(name, output.data[name][:60])

# What the editor asks, an interrupt, and input.
from jupyter_client.manager import start_new_kernel  # noqa: E402

manager, client = start_new_kernel(kernel_name=sys.argv[1])
client.complete("la.linspa", 9)
print("complete", client.get_shell_msg(timeout=60)["content"]["matches"])
client.inspect("la.linspace(0", 11)
print("inspect", client.get_shell_msg(timeout=60)["content"]["found"])
for text in ("for i = 1, 2 do", "x = )", "1 + 1"):
    client.is_complete(text)
    print("status", client.get_shell_msg(timeout=60)["content"]["status"])


def outputs(identity):
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != identity:
            continue
        content = message["content"]
        if message["msg_type"] == "stream":
            yield content["text"]
        elif message["msg_type"] == "error":
            yield content["evalue"]
        elif content.get("execution_state") == "idle":
            return


# Else the kernel drops what comes soon after the error.
loop = outputs(client.execute("print('begun') while true do end",
                              stop_on_error=False))
tell("interrupt", next(loop))
manager.interrupt_kernel()
tell("interrupt", "".join(loop))
tell("after", "".join(outputs(client.execute("print(1 + 1)"))))
identity = client.execute("print(io.read())", allow_stdin=True)
client.get_stdin_msg(timeout=60)
client.input("typed")
tell("input", "".join(outputs(identity)))
manager.shutdown_kernel()
