"""A shop that answers the last message of a conversation, in place of your agent."""

import sys

conversation = sys.argv[1]
if conversation.endswith("Thank you!"):
    print("You are welcome.")
elif "4711" in conversation:
    print("You can return the brake pads of order 4711 until 1 April.")
else:
    print("Of course. What is the number of your order?")
