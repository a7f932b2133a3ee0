return [==[
= Tables
]==]
