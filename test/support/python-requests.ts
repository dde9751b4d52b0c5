/** What the examples need of the package `requests`, so that the test needs no package of Python. */
export const PYTHON_REQUESTS = `
import urllib.request

class Response:
    def __init__(self, text): self.text = text
    def raise_for_status(self): pass

def request(method, url, headers={}, data=None):
    sent = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(sent) as response:
        return Response(response.read().decode())
`;
